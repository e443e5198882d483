import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';

/** `sha256:` and the hex SHA-256 of the RFC 8785 form of a manifest as it was given, no defaults added. */
export function manifestDigest(manifest: unknown): string {
  const canonical = canonicalize(manifest) ?? '';
  return `sha256:${createHash('sha256').update(canonical).digest('hex')}`;
}
