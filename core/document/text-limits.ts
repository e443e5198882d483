/** Limits of a text, so that parsing and validating it cannot block the event loop. */
export interface TextLimits {
  /** Characters of a text. */
  readonly length: number;
  /** Characters of a text in YAML, even if it is a single string. */
  readonly yamlLength: number;
  /** Lists, mappings and scalars. */
  readonly values: number;
  /** Names, values, marks, spaces and line breaks in YAML. The library needs about 2 µs for each. */
  readonly yamlTokens: number;
  /** A remedy where a text exceeds a limit; `null`: that of the format, if it has one. */
  readonly hint: string | null;
}

/**
 * The limits of files. A manifest of 10,000 routes in JSON has a quarter of the values, one of 2,500
 * routes in YAML 85,000 tokens. Longer YAML could block the event loop for more than 200 ms.
 */
export const FILE_LIMITS: TextLimits = {
  length: 4 * 1024 * 1024,
  yamlLength: 1024 * 1024,
  values: 200_000,
  yamlTokens: 100_000,
  hint: null,
};

const KIB = 1024;
const MIB = KIB * KIB;

/** A length in KiB or MiB. */
export function formatLength(length: number): string {
  return length < MIB ? `${length / KIB} KiB` : `${length / MIB} MiB`;
}
