const WEIGHT = /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/;
const IDENTITY = 'identity';
const ANY = '*';

/**
 * Chooses the coding of a response by `accept-encoding` (RFC 9110, 12.5.3), which is read once.
 * @param available the codings of the response, the best first; of equal weights the first is chosen
 * @returns `null` for the response as it is, which is sent too if no coding is acceptable
 */
export function chooseCoding(accepted: string, available: readonly string[]): string | null {
  const weights = readWeights(accepted, new Set([...available, IDENTITY, ANY]));
  let chosen: string | null = null;
  let weight = weights.get(IDENTITY) ?? 0;
  for (const coding of available) {
    const offered = weights.get(coding) ?? weights.get(ANY) ?? 0;
    const isBetter = chosen === null ? offered >= weight : offered > weight;
    if (offered === 0 || !isBetter) continue;
    chosen = coding;
    weight = offered;
  }
  return chosen;
}

/** The weight of each of the codings that is named; the first counts. */
function readWeights(accepted: string, codings: ReadonlySet<string>): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  for (const member of accepted.toLowerCase().split(',')) {
    const end = member.indexOf(';');
    const name = (end === -1 ? member : member.slice(0, end)).trim();
    // RFC 9110, 8.4.1.3: the old name of the coding.
    const coding = name === 'x-gzip' ? 'gzip' : name;
    if (!codings.has(coding) || weights.has(coding)) continue;
    weights.set(coding, end === -1 ? 1 : readWeight(member.slice(end + 1).trim()));
  }
  return weights;
}

/** A malformed weight accepts nothing. */
function readWeight(parameter: string): number {
  return Number(WEIGHT.exec(parameter)?.[1] ?? 0);
}
