import { RejectedToken } from './rejected-token.js';

const MESSAGES = {
  issuer: 'the token is from another issuer',
  audience: 'the token is for another audience',
} as const;

/**
 * Rejects a token whose issuer or audience is none of those of its entry.
 * @param near the one that it nearly is: an operator has to correct it, or the settings of the issuer
 */
export function createMismatch(
  reason: keyof typeof MESSAGES,
  near: string | undefined,
): RejectedToken {
  if (near === undefined) return new RejectedToken(MESSAGES[reason], reason);
  const message = `${MESSAGES[reason]}, which differs from '${near}' in its scheme, port, letter case or final slash`;
  return new RejectedToken(message, reason, { isSuspicious: true });
}

/** Finds a name that differs only in what writers of URLs confuse. */
export function findNear(found: unknown, names: readonly string[]): string | undefined {
  const simplified = new Set([found].flat().map(simplify));
  return names.find((name) => simplified.has(simplify(name)));
}

function simplify(name: unknown): string {
  return String(name)
    .toLowerCase()
    .replace(/^https?:\/\//, '')
    .replace(/^([^/]*):(?:80|443)(?=\/|$)/, '$1')
    .replace(/\/$/, '');
}
