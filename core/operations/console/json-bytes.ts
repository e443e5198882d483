export function toJsonBytes(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}
