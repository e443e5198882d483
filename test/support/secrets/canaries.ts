import { randomBytes } from 'node:crypto';

/** A text that nobody else makes, of letters that every place for a secret takes. */
export function createCanary(place: string): string {
  return `canary-${place}-${randomBytes(12).toString('hex')}`;
}

/** A secret as it may stand in an output: as it is, in base64 and in hex. */
function spellings(secret: string): string[] {
  const bytes = Buffer.from(secret);
  return [
    secret,
    bytes.toString('base64').replace(/=+$/, ''),
    bytes.toString('base64url'),
    bytes.toString('hex'),
  ];
}

/** The places of the secrets that an output holds. */
export function findCanaries(output: string, secrets: Readonly<Record<string, string>>): string[] {
  return Object.entries(secrets)
    .filter(([, secret]) => spellings(secret).some((spelling) => output.includes(spelling)))
    .map(([place]) => place);
}
