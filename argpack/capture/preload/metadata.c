/* What a code object in memory says of itself: how long it is, and where the arguments of a kernel lie.
 *
 * The bytes come from the program and may be anything, so every offset is checked. Bundles are walked, compressed ones
 * are not unpacked: their kernels have no argument table here.
 */
#include "capture.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

static const char bundle_magic[] = "__CLANG_OFFLOAD_BUNDLE__";
enum { BUNDLE_MAGIC = 24, MOST_ENTRIES = 4096, MOST_ARGUMENTS = 4096, DEEPEST = 32, METADATA_NOTE = 32 };

/* A position in msgpack bytes. `bad` stays set: callers look once, at the end. */
struct cursor {
  const uint8_t *at, *end;
  int bad;
};

static uint64_t big_endian(struct cursor *c, size_t size) {
  if (c->bad || (size_t)(c->end - c->at) < size) {
    c->bad = 1;
    return 0;
  }
  uint64_t value = 0;
  while (size--) value = value << 8 | *c->at++;
  return value;
}

/* Count of a container (`fix` masks the short form), or -1 where something else stands here. */
static int64_t container(struct cursor *c, uint8_t fix, uint8_t fix_mask, uint8_t wide) {
  if (c->bad || c->at >= c->end) return -1;
  if ((*c->at & fix_mask) == fix) return *c->at++ & (uint8_t)~fix_mask;
  if (*c->at != wide && *c->at != wide + 1) return -1;
  size_t size = *c->at++ == wide ? 2 : 4;
  return (int64_t)big_endian(c, size);
}

static int64_t map(struct cursor *c) { return container(c, 0x80, 0xf0, 0xde); }
static int64_t array(struct cursor *c) { return container(c, 0x90, 0xf0, 0xdc); }

static int text(struct cursor *c, const char **start, size_t *length) {
  if (c->bad || c->at >= c->end) return 0;
  uint8_t tag = *c->at;
  if ((tag & 0xe0) == 0xa0)
    *length = tag & 31, c->at++;
  else if (tag >= 0xd9 && tag <= 0xdb)
    c->at++, *length = big_endian(c, (size_t)1 << (tag - 0xd9));
  else
    return 0;
  if (c->bad || (size_t)(c->end - c->at) < *length) return !(c->bad = 1);
  *start = (const char *)c->at;
  c->at += *length;
  return 1;
}

static int number(struct cursor *c, uint64_t *value) {
  if (c->bad || c->at >= c->end) return 0;
  uint8_t tag = *c->at;
  if (tag < 0x80)
    *value = tag, c->at++;
  else if (tag >= 0xcc && tag <= 0xcf)
    c->at++, *value = big_endian(c, (size_t)1 << (tag - 0xcc));
  else
    return 0;
  return !c->bad;
}

static void skip(struct cursor *c, int depth) {
  const char *start;
  size_t length;
  uint64_t value;
  if (c->bad || c->at >= c->end || depth > DEEPEST) {
    c->bad = 1;
    return;
  }
  if (text(c, &start, &length) || number(c, &value)) return;
  int64_t count = map(c);
  if (count >= 0)
    count *= 2;
  else
    count = array(c);
  for (int64_t i = 0; i < count && !c->bad; i++) skip(c, depth + 1);
  if (count >= 0 || c->bad) return;
  uint8_t tag = *c->at++;
  size_t bytes = 0;
  if (tag >= 0xc4 && tag <= 0xc6)
    bytes = big_endian(c, (size_t)1 << (tag - 0xc4));
  else if (tag >= 0xd0 && tag <= 0xd3)
    bytes = (size_t)1 << (tag - 0xd0);
  else if (tag == 0xca || tag == 0xcb)
    bytes = tag == 0xca ? 4 : 8;
  else if (tag >= 0xd4 && tag <= 0xd8)
    bytes = 1 + ((size_t)1 << (tag - 0xd4));
  else if (tag >= 0xc7 && tag <= 0xc9)
    bytes = 1 + big_endian(c, (size_t)1 << (tag - 0xc7));
  else if (tag < 0xe0 && tag != 0xc0 && tag != 0xc2 && tag != 0xc3)
    c->bad = 1;
  if (c->bad || (size_t)(c->end - c->at) < bytes)
    c->bad = 1;
  else
    c->at += bytes;
}

static int is(const char *start, size_t length, const char *word) {
  return strlen(word) == length && !memcmp(start, word, length);
}

/* One entry of `.args`. */
static struct argument argument(struct cursor *c) {
  struct argument found = {0, 0, OTHER};
  int64_t count = map(c);
  if (count < 0) c->bad = 1;
  for (int64_t i = 0; i < count && !c->bad; i++) {
    const char *key, *kind;
    size_t key_length, kind_length;
    uint64_t value = 0;
    if (!text(c, &key, &key_length)) {
      c->bad = 1;
    } else if (is(key, key_length, ".offset") || is(key, key_length, ".size")) {
      if (!number(c, &value) || value > 1 << 20) c->bad = 1;
      if (key_length == 7) found.offset = (uint32_t)value;
      else found.size = (uint32_t)value;
    } else if (is(key, key_length, ".value_kind") && text(c, &kind, &kind_length)) {
      if (is(kind, kind_length, "by_value")) found.kind = BY_VALUE;
      else if (is(kind, kind_length, "global_buffer")) found.kind = POINTER;
      else if (kind_length > 7 && !memcmp(kind, "hidden_", 7)) found.kind = HIDDEN_ARGUMENT;
    } else {
      skip(c, 0);
    }
  }
  return found;
}

static int arguments(struct cursor c, struct code *found) {
  int64_t count = array(&c);
  if (count < 0 || count > MOST_ARGUMENTS) return 0;
  struct argument *list = calloc((size_t)count + 1, sizeof *list);
  if (!list) return 0;
  for (int64_t i = 0; i < count && !c.bad; i++) list[i] = argument(&c);
  if (c.bad) {
    free(list);
    return 0;
  }
  found->arguments = list;
  found->count = (uint32_t)count;
  return 1;
}

/* The kernel of this name in one metadata note. A kernel without `.args` has none. */
static int in_note(const uint8_t *note, size_t size, const char *name, struct code *found) {
  struct cursor c = {note, note + size, 0};
  int64_t entries = map(&c);
  for (int64_t i = 0; i < entries && !c.bad; i++) {
    const char *key, *value;
    size_t key_length, length;
    if (!text(&c, &key, &key_length)) return 0;
    int64_t kernels = is(key, key_length, "amdhsa.kernels") ? array(&c) : -1;
    if (kernels < 0) skip(&c, 0);
    for (int64_t k = 0; k < kernels && !c.bad; k++) {
      struct cursor args = {(const uint8_t *)"\x90", NULL, 0};
      args.end = args.at + 1;
      int here = 0;
      int64_t fields = map(&c);
      if (fields < 0) return 0;
      for (int64_t f = 0; f < fields && !c.bad; f++) {
        if (!text(&c, &key, &key_length)) return 0;
        struct cursor before = c;
        if (is(key, key_length, ".name") && text(&c, &value, &length)) {
          here = is(value, length, name);
        } else {
          skip(&c, 0);
          if (is(key, key_length, ".args")) args = before;
        }
      }
      if (here && !c.bad) return arguments(args, found);
    }
  }
  return 0;
}

static int in_notes(const uint8_t *at, size_t size, const char *name, struct code *found) {
  while (size >= sizeof(Elf64_Nhdr)) {
    Elf64_Nhdr note;
    memcpy(&note, at, sizeof note);
    size_t name_size = ((size_t)note.n_namesz + 3) & ~(size_t)3, desc_size = ((size_t)note.n_descsz + 3) & ~(size_t)3;
    if (name_size > size - sizeof note || note.n_descsz > size - sizeof note - name_size) return 0;
    const uint8_t *desc = at + sizeof note + name_size;
    if (note.n_type == METADATA_NOTE && note.n_namesz == 7 && !memcmp(at + sizeof note, "AMDGPU", 7) &&
        in_note(desc, note.n_descsz, name, found))
      return 1;
    size_t step = sizeof note + name_size + desc_size;
    if (step > size) return 0;
    at += step;
    size -= step;
  }
  return 0;
}

static int is_elf(const uint8_t *image) {
  return !memcmp(image, ELFMAG, SELFMAG) && image[EI_CLASS] == ELFCLASS64 && image[EI_DATA] == ELFDATA2LSB;
}

static int in_elf(const uint8_t *image, size_t size, const char *name, struct code *found) {
  Elf64_Ehdr elf;
  if (size < sizeof elf) return 0;
  memcpy(&elf, image, sizeof elf);
  for (unsigned i = 0; i < elf.e_phnum; i++) {
    Elf64_Phdr part;
    uint64_t at = elf.e_phoff + (uint64_t)i * sizeof part;
    if (at > size || size - at < sizeof part) break;
    memcpy(&part, image + at, sizeof part);
    if (part.p_type == PT_NOTE && part.p_offset <= size && part.p_filesz <= size - part.p_offset &&
        in_notes(image + part.p_offset, part.p_filesz, name, found))
      return 1;
  }
  return 0;
}

static uint64_t most(uint64_t a, uint64_t b) { return a > b ? a : b; }

static uint64_t elf_size(const uint8_t *image) {
  Elf64_Ehdr elf;
  memcpy(&elf, image, sizeof elf);
  uint64_t end = most(sizeof elf, elf.e_shoff + (uint64_t)elf.e_shnum * elf.e_shentsize);
  end = most(end, elf.e_phoff + (uint64_t)elf.e_phnum * elf.e_phentsize);
  for (unsigned i = 0; i < elf.e_phnum; i++) {
    Elf64_Phdr part;
    memcpy(&part, image + elf.e_phoff + (uint64_t)i * sizeof part, sizeof part);
    end = most(end, part.p_offset + part.p_filesz);
  }
  for (unsigned i = 0; elf.e_shoff && i < elf.e_shnum; i++) {
    Elf64_Shdr part;
    memcpy(&part, image + elf.e_shoff + (uint64_t)i * sizeof part, sizeof part);
    if (part.sh_type != SHT_NOBITS) end = most(end, part.sh_offset + part.sh_size);
  }
  return end;
}

/* One entry of a bundle: offset and size of the code, its id such as hipv4-amdgcn-amd-amdhsa--gfx950:xnack-. */
struct entry {
  uint64_t offset, size, id_length;
};

static uint64_t bundle_count(const uint8_t *image) {
  uint64_t count;
  memcpy(&count, image + BUNDLE_MAGIC, 8);
  return count < MOST_ENTRIES ? count : 0;
}

/* How many bytes the program gave, as they themselves say; 0 where they do not. The runtime has read them before. */
size_t image_size(const uint8_t *image) {
  if (is_elf(image)) return elf_size(image);
  if (!memcmp(image, bundle_magic, BUNDLE_MAGIC)) {
    uint64_t end = BUNDLE_MAGIC + 8, at = end;
    for (uint64_t i = bundle_count(image); i; i--) {
      struct entry entry;
      memcpy(&entry, image + at, sizeof entry);
      at += sizeof entry + entry.id_length;
      end = most(most(end, at), entry.offset + entry.size);
    }
    return end;
  }
  if (!memcmp(image, "CCOB", 4)) {
    uint16_t version;
    uint32_t narrow;
    uint64_t wide;
    memcpy(&version, image + 4, 2);
    memcpy(&narrow, image + 8, 4);
    memcpy(&wide, image + 8, 8);
    return version == 2 ? narrow : version == 3 ? wide : 0;
  }
  return 0;
}

/* Whether an entry's id is for this device: same processor, and every feature that it names. */
static int fits(const char *id, size_t length, const char *device) {
  char target[256];
  size_t start = 0;
  for (size_t i = 0; i + 1 < length; i++)
    if (id[i] == '-' && id[i + 1] == '-') start = i + 2;
  if (!start || length - start >= sizeof target) return 0;
  memcpy(target, id + start, length - start);
  target[length - start] = 0;
  size_t processor = strcspn(target, ":");
  if (strncmp(device, target, processor) || (device[processor] && device[processor] != ':')) return 0;
  char *rest = NULL, *feature = strtok_r(target + processor, ":", &rest);
  for (; feature; feature = strtok_r(NULL, ":", &rest))
    if (!strstr(device + processor, feature)) return 0;
  return 1;
}

/* The code that the runtime would take from the image for the device, and the arguments of its kernel `name`. What
 * cannot be told (an unknown device, several candidates) leaves the whole image and no table. */
void image_find(const uint8_t *image, size_t size, const char *device, const char *name, struct code *found) {
  *found = (struct code){image, size, NULL, NO_ARGUMENT_TABLE};
  if (size < sizeof(Elf64_Ehdr)) return;
  if (is_elf(image)) {
    in_elf(image, size, name, found);
    return;
  }
  if (memcmp(image, bundle_magic, BUNDLE_MAGIC)) return;
  uint64_t at = BUNDLE_MAGIC + 8;
  for (uint64_t i = bundle_count(image); i; i--) {
    struct entry entry;
    if (at > size || size - at < sizeof entry) return;
    memcpy(&entry, image + at, sizeof entry);
    at += sizeof entry;
    if (entry.id_length > size - at || entry.offset > size || entry.size > size - entry.offset) return;
    const uint8_t *code = image + entry.offset;
    if (entry.size >= sizeof(Elf64_Ehdr) && is_elf(code) && fits((const char *)image + at, entry.id_length, device) &&
        in_elf(code, entry.size, name, found)) {
      found->data = code;
      found->size = entry.size;
      return;
    }
    at += entry.id_length;
  }
}
