const SHORT = /^sha256:([0-9a-f]{12})[0-9a-f]*$/;

/** The first 12 of 64 digits identify a digest, as in git. Other text stays as it is. */
export function shortenDigest(digest: string): string {
  return digest.replace(SHORT, '$1');
}
