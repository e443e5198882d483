import { randomBytes } from 'node:crypto';

/** Creates a unique text of characters that are valid in every secret. */
export function createCanary(place: string): string {
  return `canary-${place}-${randomBytes(12).toString('hex')}`;
}

/** The forms of a secret in an output: plain, base64 and hex. */
function spellings(secret: string): string[] {
  const bytes = Buffer.from(secret);
  return [
    secret,
    bytes.toString('base64').replace(/=+$/, ''),
    bytes.toString('base64url'),
    bytes.toString('hex'),
  ];
}

/** The names of the secrets that an output contains. */
export function findCanaries(output: string, secrets: Readonly<Record<string, string>>): string[] {
  return Object.entries(secrets)
    .filter(([, secret]) => spellings(secret).some((spelling) => output.includes(spelling)))
    .map(([place]) => place);
}
