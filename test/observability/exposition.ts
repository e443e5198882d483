/** One line of the exposition format. */
export interface ExposedSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Exposition {
  readonly text: string;
  readonly samples: readonly ExposedSample[];
  /** Names of metrics that have a type. */
  readonly names: ReadonlySet<string>;
  /** The samples of a name that have at least these labels. */
  find(name: string, labels?: Readonly<Record<string, string>>): readonly ExposedSample[];
  /** The sum of what `find` finds. */
  sum(name: string, labels?: Readonly<Record<string, string>>): number;
}

const SAMPLE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g;

/** @throws when a line is none of the format. */
export function parseExposition(text: string): Exposition {
  const samples: ExposedSample[] = [];
  const names = new Set<string>();
  for (const line of text.split('\n')) {
    const type = /^# TYPE (\S+) (?:counter|gauge|histogram|summary)$/.exec(line);
    if (type?.[1] !== undefined) names.add(type[1]);
    if (line === '' || line.startsWith('#')) continue;
    const [, name, labels = '', value] = SAMPLE.exec(line) ?? [];
    if (name === undefined) throw new Error(`no sample: ${line}`);
    const parsed = [...labels.matchAll(LABEL)].map(([, key, text]) => [key, text]);
    samples.push({ name, labels: Object.fromEntries(parsed), value: Number(value) });
  }
  const find: Exposition['find'] = (name, labels = {}) =>
    samples.filter(
      (sample) =>
        sample.name === name &&
        Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
    );
  return {
    text,
    samples,
    names,
    find,
    sum: (name, labels) => find(name, labels).reduce((sum, { value }) => sum + value, 0),
  };
}

export async function scrape(
  host: { readonly url: string },
  headers: Readonly<Record<string, string>> = {},
): Promise<Exposition> {
  const response = await fetch(`${host.url}/metrics`, { headers });
  if (response.status !== 200) throw new Error(`/metrics answered ${response.status}`);
  return parseExposition(await response.text());
}
