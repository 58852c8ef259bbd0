/* CRC-32 (the polynomial of zlib, eight bytes at a time) and SHA-256 (FIPS 180-4). */
#include "capture.h"

#include <pthread.h>
#include <string.h>

static uint32_t table[8][256];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void fill(void) {
  for (uint32_t i = 0; i < 256; i++) {
    uint32_t value = i;
    for (int bit = 0; bit < 8; bit++) value = value >> 1 ^ (value & 1 ? 0xedb88320u : 0);
    table[0][i] = value;
  }
  for (uint32_t i = 0; i < 256; i++)
    for (int n = 1; n < 8; n++) table[n][i] = table[n - 1][i] >> 8 ^ table[0][table[n - 1][i] & 255];
}

uint32_t crc32_of(uint32_t crc, const void *data, size_t size) {
  pthread_once(&once, fill);
  const uint8_t *byte = data;
  crc = ~crc;
  for (; size >= 8; size -= 8, byte += 8) {
    uint32_t low, high;
    memcpy(&low, byte, 4);
    memcpy(&high, byte + 4, 4);
    low ^= crc;
    crc = table[7][low & 255] ^ table[6][low >> 8 & 255] ^ table[5][low >> 16 & 255] ^ table[4][low >> 24] ^
          table[3][high & 255] ^ table[2][high >> 8 & 255] ^ table[1][high >> 16 & 255] ^ table[0][high >> 24];
  }
  while (size--) crc = crc >> 8 ^ table[0][(crc ^ *byte++) & 255];
  return ~crc;
}

/* The first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
static const uint32_t constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate(uint32_t value, int by) { return value >> by | value << (32 - by); }

static void block(uint32_t state[8], const uint8_t *data) {
  uint32_t word[64], v[8];
  for (int i = 0; i < 16; i++) {
    memcpy(&word[i], data + 4 * i, 4);
    word[i] = __builtin_bswap32(word[i]);
  }
  for (int i = 16; i < 64; i++) {
    uint32_t a = word[i - 15], b = word[i - 2];
    word[i] = word[i - 16] + word[i - 7] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) +
              (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
  }
  memcpy(v, state, sizeof v);
  for (int i = 0; i < 64; i++) {
    uint32_t e = v[4], a = v[0];
    uint32_t first = v[7] + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & v[5]) ^ (~e & v[6])) + constants[i] +
                     word[i];
    uint32_t second = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));
    memmove(v + 1, v, 7 * sizeof *v);
    v[4] += first;
    v[0] = first + second;
  }
  for (int i = 0; i < 8; i++) state[i] += v[i];
}

void sha256_of(const void *data, size_t size, uint8_t digest[DIGEST]) {
  uint32_t state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  const uint8_t *byte = data;
  size_t left = size;
  for (; left >= 64; left -= 64, byte += 64) block(state, byte);
  uint8_t tail[128] = {0};
  if (left) memcpy(tail, byte, left);
  tail[left] = 0x80;
  size_t end = left < 56 ? 64 : 128;
  uint64_t bits = __builtin_bswap64((uint64_t)size * 8);
  memcpy(tail + end - 8, &bits, 8);
  block(state, tail);
  if (end == 128) block(state, tail + 64);
  for (int i = 0; i < 8; i++) {
    uint32_t word = __builtin_bswap32(state[i]);
    memcpy(digest + 4 * i, &word, 4);
  }
}
