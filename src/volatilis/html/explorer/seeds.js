// The seeds of `volatilis run`: NumPy's SeedSequence of the seed and a group's name, and its first 64 bits.
function sha256(bytes) {
  const roots = [], primes = [];
  for (let n = 2; primes.length < 64; n++) if (primes.every((p) => n % p)) primes.push(n);
  const fraction = (x) => ((x - Math.floor(x)) * 4294967296) >>> 0;
  for (const p of primes) roots.push(fraction(Math.cbrt(p)));
  const h = primes.slice(0, 8).map((p) => fraction(Math.sqrt(p)));
  const blocks = Math.ceil((bytes.length + 9) / 64), data = new DataView(new ArrayBuffer(blocks * 64));
  bytes.forEach((one, i) => data.setUint8(i, one));
  data.setUint8(bytes.length, 128);
  data.setUint32(blocks * 64 - 4, bytes.length * 8);
  const turn = (x, n) => (x >>> n) | (x << (32 - n)), w = new Uint32Array(64);
  for (let block = 0; block < blocks; block++) {
    for (let i = 0; i < 16; i++) w[i] = data.getUint32(block * 64 + 4 * i);
    for (let i = 16; i < 64; i++) {
      const a = w[i - 15], b = w[i - 2];
      w[i] = w[i - 16] + (turn(a, 7) ^ turn(a, 18) ^ (a >>> 3)) + w[i - 7] + (turn(b, 17) ^ turn(b, 19) ^ (b >>> 10));
    }
    let [a, b, c, d, e, f, g, k] = h;
    for (let i = 0; i < 64; i++) {
      const first = (k + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + roots[i] + w[i]) | 0;
      const second = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      [k, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + second) | 0];
    }
    [a, b, c, d, e, f, g, k].forEach((x, i) => { h[i] = (h[i] + x) >>> 0; });
  }
  return h; // eight big-endian numbers of 32 bits
}

function seedWords(seed, name) {
  // [seed, four words of the digest of the name], as `named_seed` has them
  const json = `[${name.map((one) => JSON.stringify(one).replace(/[\u007f-\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`)).join(", ")}]`;
  const swap = (x) => (((x & 255) << 24) | ((x & 65280) << 8) | ((x >>> 8) & 65280) | (x >>> 24)) >>> 0;
  return [seed, ...sha256(new TextEncoder().encode(json)).slice(0, 4).map(swap)];
}

function generatorKey(entropy) {
  // SeedSequence(entropy).generate_state(1, uint64)[0], for whole numbers below 2^32 (O'Neill 2015, seed_seq_fe)
  let hash = 0x43b0d7e5;
  const mixed = (value) => {
    value ^= hash;
    hash = Math.imul(hash, 0x931e8875);
    value = Math.imul(value, hash);
    return (value ^ (value >>> 16)) >>> 0;
  };
  const mix = (x, y) => {
    const result = (Math.imul(x, 0xca01f9dd) - Math.imul(y, 0x4973f715)) >>> 0;
    return (result ^ (result >>> 16)) >>> 0;
  };
  const pool = [0, 1, 2, 3].map((i) => mixed(entropy[i] ?? 0));
  for (let from = 0; from < 4; from++) for (let to = 0; to < 4; to++) if (from !== to) pool[to] = mix(pool[to], mixed(pool[from]));
  for (let from = 4; from < entropy.length; from++) for (let to = 0; to < 4; to++) pool[to] = mix(pool[to], mixed(entropy[from]));
  let state = 0x8b51f9dd;
  const [low, high] = [0, 1].map((i) => {
    let value = pool[i] ^ state;
    state = Math.imul(state, 0x58f38ded);
    value = Math.imul(value, state);
    return (value ^ (value >>> 16)) >>> 0;
  });
  return (BigInt(high) << 32n) | BigInt(low);
}
