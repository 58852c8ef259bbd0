"""Why the output of a launch is wrong: hypotheses about what the host did, each a launch that is run and compared.

It knows families that argpack launches and no command line; `scene_of` begins, `explain` answers.
"""

from argpack.explain.diagnosis import Explanation, Finding, explain, of_sizes
from argpack.explain.given import Given
from argpack.explain.scene import Runner, Scene
from argpack.explain.scenes import Maker, maker_of

__all__ = ["Explanation", "Finding", "Given", "Maker", "Runner", "Scene", "explain", "maker_of", "of_sizes"]
