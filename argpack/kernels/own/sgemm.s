// argpack_sgemm: D = alpha·A·B + beta·C in single precision for gfx950, all matrices row-major.
//
// A is M×K, B is K×N, C and D are M×N; strides count elements from one row to the next. It is small rather than fast:
// one work-item computes one element of D with one fused multiply-add per step of K, in order of K.
//
// Launch: workgroups of 16×16×1 work-items, grid ceil(N/16) × ceil(M/16) × 1. Work-items outside of D are masked off.
// C is read only where beta is neither 0 nor -0, so it may be null there. K = 0 gives beta·C, or 0, and reads no A, B.
// Result: fma(beta, C, alpha · sum), or alpha · sum where beta is 0. Denormals are kept.
//
// tools/build_own_kernels makes sgemm.co from this file.

// Arguments: bytes from the start of the kernarg segment, naturally aligned, 68 in all.
//   0 address of D    8 address of C    16 address of A    24 address of B    32 alpha (f32)    36 beta (f32)
//   40 M    44 N    48 K    52 stride of D    56 stride of C    60 stride of A    64 stride of B (u32, in elements)

// Scalar registers. The hardware sets s[0:3], one load of 16 dwords sets s[8:23].
//   s[0:1]    address of the kernarg segment
//   s2, s3    workgroup id x, y
//   s[4:5]    bytes from one row of B to the next
//   s[8:9]    address of D            s[10:11]  address of C
//   s[12:13]  address of A            s[14:15]  address of B
//   s16, s17  alpha, beta (f32)
//   s18, s19  M, N                    s20       steps of K still to do, at first K
//   s21, s22  strides of D, C         s23, s24  strides of A, B, in elements
//   s25       beta without its sign
//   vcc       lanes inside of D; then carry out of v_mad_u64_u32, which nobody reads
//
// Vector registers. 64-bit pairs start at an even register.
//   v0        work-item id, packed: x in bits 0 to 9, y in bits 10 to 19
//   v1        column of D             v2        row of D
//   v3        sum over K, then alpha · sum, then the element of D (f32)
//   v[4:5]    column, zero-extended to 64 bits
//   v[6:7]    address of the next element of A
//   v[8:9]    address of the next element of B
//   v10, v11  elements of A, B (f32)  v12       element of C (f32)
//   v[14:15]  address of the element of D or C

        .amdgcn_target "amdgcn-amd-amdhsa--gfx950"
        .amdhsa_code_object_version 5

        .text
        .globl argpack_sgemm
        .p2align 8
        .type argpack_sgemm,@function
argpack_sgemm:
        s_load_dwordx16 s[8:23], s[0:1], 0
        s_load_dword s24, s[0:1], 64
        v_and_b32 v1, 0x3ff, v0
        v_bfe_u32 v2, v0, 10, 10
        v_lshl_add_u32 v1, s2, 4, v1
        v_lshl_add_u32 v2, s3, 4, v2
        v_mov_b32 v3, 0
        v_mov_b32 v4, v1
        v_mov_b32 v5, 0
        s_waitcnt lgkmcnt(0)

        // Lanes outside of D are switched off for good; a wave without any other ends.
        v_cmp_gt_u32 vcc, s19, v1
        s_and_b64 exec, exec, vcc
        v_cmp_gt_u32 vcc, s18, v2
        s_and_b64 exec, exec, vcc
        s_cbranch_execz .Lend

        s_cmp_eq_u32 s20, 0
        s_cbranch_scc1 .Lscaled

        // Products of row and stride take 64 bits: a matrix may have more than 2^32 elements.
        v_mad_u64_u32 v[6:7], vcc, v2, s23, 0
        v_lshl_add_u64 v[6:7], v[6:7], 2, s[12:13]
        v_lshl_add_u64 v[8:9], v[4:5], 2, s[14:15]
        s_mov_b32 s4, s24
        s_mov_b32 s5, 0
        s_lshl_b64 s[4:5], s[4:5], 2

.Lstep:
        global_load_dword v10, v[6:7], off
        global_load_dword v11, v[8:9], off
        v_lshl_add_u64 v[6:7], v[6:7], 0, 4
        v_lshl_add_u64 v[8:9], v[8:9], 0, s[4:5]
        s_sub_u32 s20, s20, 1
        s_waitcnt vmcnt(0)
        v_fma_f32 v3, v10, v11, v3
        s_cmp_lg_u32 s20, 0
        s_cbranch_scc1 .Lstep

        v_mul_f32 v3, s16, v3

.Lscaled:
        s_and_b32 s25, s17, 0x7fffffff
        s_cbranch_scc0 .Lstore
        v_mad_u64_u32 v[14:15], vcc, v2, s22, v[4:5]
        v_lshl_add_u64 v[14:15], v[14:15], 2, s[10:11]
        global_load_dword v12, v[14:15], off
        s_waitcnt vmcnt(0)
        v_fma_f32 v3, s17, v12, v3

.Lstore:
        v_mad_u64_u32 v[14:15], vcc, v2, s21, v[4:5]
        v_lshl_add_u64 v[14:15], v[14:15], 2, s[8:9]
        global_store_dword v[14:15], v3, off

.Lend:
        s_endpgm
.Lcode_end:
        .size argpack_sgemm, .Lcode_end-argpack_sgemm

        .rodata
        .p2align 6
        .amdhsa_kernel argpack_sgemm
                .amdhsa_kernarg_size 72
                .amdhsa_user_sgpr_kernarg_segment_ptr 1
                .amdhsa_system_sgpr_workgroup_id_x 1
                .amdhsa_system_sgpr_workgroup_id_y 1
                .amdhsa_system_sgpr_workgroup_id_z 0
                .amdhsa_system_vgpr_workitem_id 1
                .amdhsa_next_free_vgpr 16
                .amdhsa_accum_offset 16
                .amdhsa_next_free_sgpr 26
                .amdhsa_float_denorm_mode_32 3
                .amdhsa_float_denorm_mode_16_64 3
        .end_amdhsa_kernel

        // LLVM 20 reads a bare N as YAML's "no", hence !str.
        .amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.target: amdgcn-amd-amdhsa--gfx950
amdhsa.kernels:
  - .name: argpack_sgemm
    .symbol: argpack_sgemm.kd
    .language: Assembler
    .kernarg_segment_size: 72
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 32
    .vgpr_count: 16
    .agpr_count: 0
    .max_flat_workgroup_size: 256
    .reqd_workgroup_size: [16, 16, 1]
    .args:
      - {.name: ptr_D, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global}
      - {.name: ptr_C, .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global}
      - {.name: ptr_A, .offset: 16, .size: 8, .value_kind: global_buffer, .address_space: global}
      - {.name: ptr_B, .offset: 24, .size: 8, .value_kind: global_buffer, .address_space: global}
      - {.name: alpha, .offset: 32, .size: 4, .value_kind: by_value, .value_type: f32}
      - {.name: beta, .offset: 36, .size: 4, .value_kind: by_value, .value_type: f32}
      - {.name: M, .offset: 40, .size: 4, .value_kind: by_value, .value_type: u32}
      - {.name: !str N, .offset: 44, .size: 4, .value_kind: by_value, .value_type: u32}
      - {.name: K, .offset: 48, .size: 4, .value_kind: by_value, .value_type: u32}
      - {.name: stride_D, .offset: 52, .size: 4, .value_kind: by_value, .value_type: u32}
      - {.name: stride_C, .offset: 56, .size: 4, .value_kind: by_value, .value_type: u32}
      - {.name: stride_A, .offset: 60, .size: 4, .value_kind: by_value, .value_type: u32}
      - {.name: stride_B, .offset: 64, .size: 4, .value_kind: by_value, .value_type: u32}
...
        .end_amdgpu_metadata
