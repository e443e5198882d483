const WEIGHT = /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/;

/**
 * Whether `accept-encoding` (RFC 9110, 12.5.3), which is read once, accepts gzip, and the content as
 * it is with no greater weight.
 */
export function acceptsGzip(accepted: string): boolean {
  const weights = readWeights(accepted);
  const weight = weights.get('gzip') ?? weights.get('*') ?? 0;
  return weight > 0 && weight >= (weights.get('identity') ?? 0);
}

/** The weight of each of the three codings that is named; the first counts. */
function readWeights(accepted: string): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  for (const member of accepted.toLowerCase().split(',')) {
    const end = member.indexOf(';');
    const name = (end === -1 ? member : member.slice(0, end)).trim();
    // RFC 9110, 8.4.1.3: the old name of the coding.
    const coding = name === 'x-gzip' ? 'gzip' : name;
    const counts = coding === 'gzip' || coding === 'identity' || coding === '*';
    if (!counts || weights.has(coding)) continue;
    weights.set(coding, end === -1 ? 1 : readWeight(member.slice(end + 1).trim()));
  }
  return weights;
}

/** A malformed weight accepts nothing. */
function readWeight(parameter: string): number {
  return Number(WEIGHT.exec(parameter)?.[1] ?? 0);
}
