import { call } from '../http/call.js';

/** One line of the exposition format. */
interface ExposedSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

type MetricType = 'counter' | 'gauge' | 'histogram' | 'summary';

export interface Exposition {
  readonly text: string;
  readonly samples: readonly ExposedSample[];
  /** Names of metrics that have a type. */
  readonly names: ReadonlySet<string>;
  readonly types: ReadonlyMap<string, MetricType>;
  /** The samples of a name that have at least these labels. */
  find(name: string, labels?: Readonly<Record<string, string>>): readonly ExposedSample[];
  /** The sum of the samples that `find` returns. */
  sum(name: string, labels?: Readonly<Record<string, string>>): number;
}

interface Family {
  readonly name: string;
  readonly type: MetricType;
  readonly samples: ExposedSample[];
}

const HELP = /^# HELP ([a-zA-Z_:][\w:]*) ((?:[^\\]|\\\\|\\n)+)$/;
const TYPE = /^# TYPE ([a-zA-Z_:][\w:]*) (counter|gauge|histogram|summary)$/;
const SAMPLE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /^([a-zA-Z_]\w*)="((?:[^"\\]|\\\\|\\"|\\n)*)"(?:,(?=.)|$)/;
const VALUE = /^(?:[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|NaN|\+Inf|-Inf)$/i;
const SUFFIXES: Readonly<Record<MetricType, readonly string[]>> = {
  counter: [''],
  gauge: [''],
  histogram: ['_bucket', '_sum', '_count'],
  summary: ['', '_sum', '_count'],
};

/**
 * Parses https://prometheus.io/docs/instrumenting/exposition_formats/, but is stricter: each
 * metric has one HELP, one TYPE and then all its samples. Series are unique, counters are not
 * negative, and histograms are complete.
 * @throws at the first invalid line.
 */
export function parseExposition(text: string): Exposition {
  if (!text.endsWith('\n')) throw new Error('the last line has no line feed');
  const families = readFamilies(text.slice(0, -1).split('\n'));
  for (const family of families) checkFamily(family);
  const samples = families.flatMap((family) => family.samples);
  const find: Exposition['find'] = (name, labels = {}) =>
    samples.filter(
      (sample) =>
        sample.name === name &&
        Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
    );
  return {
    text,
    samples,
    names: new Set(families.map(({ name }) => name)),
    types: new Map(families.map(({ name, type }) => [name, type])),
    find,
    sum: (name, labels) => find(name, labels).reduce((sum, { value }) => sum + value, 0),
  };
}

export async function scrape(
  host: { readonly url: string },
  headers: Readonly<Record<string, string>> = {},
): Promise<Exposition> {
  // Closes its connection: a worker that is replaced would wait for the next request on it.
  const port = Number(new URL(host.url).port);
  const request = { target: '/metrics', as: null, headers: Object.entries(headers) };
  const { status, body } = await call({ port }, request);
  if (status !== 200) throw new Error(`/metrics returned ${status}`);
  return parseExposition(body.toString());
}

/** A key for a name and its labels, independent of their order. */
export function seriesOf({ name, labels }: ExposedSample): string {
  return `${name}${JSON.stringify(Object.entries(labels).sort())}`;
}

function readFamilies(lines: readonly string[]): Family[] {
  const families = new Map<string, Family>();
  let helped: string | null = null;
  let current: Family | null = null;
  for (const line of lines) {
    // prom-client puts an empty line between metrics.
    if (line === '') continue;
    const help = HELP.exec(line);
    const type = TYPE.exec(line);
    if (help !== null) {
      helped = help[1] ?? '';
      current = null;
    } else if (type !== null) {
      const name = type[1] ?? '';
      if (name !== helped) throw new Error(`TYPE without its HELP: ${line}`);
      if (families.has(name)) throw new Error(`duplicate metric: ${line}`);
      current = { name, type: type[2] as MetricType, samples: [] };
      families.set(name, current);
    } else {
      const sample = readSample(line);
      if (current === null || !isOf(sample, current)) throw new Error(`no TYPE before: ${line}`);
      current.samples.push(sample);
    }
  }
  return [...families.values()];
}

function isOf(sample: ExposedSample, { name, type }: Family): boolean {
  return SUFFIXES[type].some((suffix) => sample.name === `${name}${suffix}`);
}

function readSample(line: string): ExposedSample {
  const [, name, labels = '', value = ''] = SAMPLE.exec(line) ?? [];
  if (name === undefined) throw new Error(`no sample: ${line}`);
  if (!VALUE.test(value)) throw new Error(`no value: ${line}`);
  return { name, labels: readLabels(labels, line), value: toNumber(value) };
}

function toNumber(value: string): number {
  return Number(value.replace(/^([+-]?)Inf$/i, '$1Infinity'));
}

function readLabels(text: string, line: string): Record<string, string> {
  const labels: Record<string, string> = {};
  let rest = text;
  while (rest !== '') {
    const [whole, name, value = ''] = LABEL.exec(rest) ?? [];
    if (whole === undefined || name === undefined) throw new Error(`no label: ${line}`);
    if (Object.hasOwn(labels, name)) throw new Error(`duplicate label: ${line}`);
    labels[name] = value.replace(/\\(.)/g, (_, escaped) => (escaped === 'n' ? '\n' : escaped));
    rest = rest.slice(whole.length);
  }
  return labels;
}

/** Prometheus reserves these labels for the types that expose them. */
function checkReservedLabels(labels: ExposedSample['labels'], { name, type }: Family): void {
  if ('quantile' in labels) throw new Error(`label quantile outside of a summary: ${name}`);
  if ('le' in labels && type !== 'histogram') {
    throw new Error(`label le outside of a histogram: ${name}`);
  }
}

function checkFamily(family: Family): void {
  const { name, type, samples } = family;
  const series = samples.map(seriesOf);
  const twice = series.find((name, index) => series.indexOf(name) !== index);
  if (twice !== undefined) throw new Error(`duplicate series: ${twice}`);
  for (const { labels } of samples) checkReservedLabels(labels, family);
  if (type === 'gauge') return;
  if (type === 'counter' && !name.endsWith('_total')) throw new Error(`not …_total: ${name}`);
  for (const sample of samples) {
    if (!(sample.value >= 0)) throw new Error(`below 0: ${seriesOf(sample)}`);
  }
  if (type === 'histogram') checkHistogram(family);
}

/**
 * Checks each set of labels: bounds and counts ascend, and the last bucket is +Inf with the total
 * count.
 */
function checkHistogram({ name, samples }: Family): void {
  const without = ({ labels: { le, ...labels } }: ExposedSample) =>
    seriesOf({ name, labels, value: 0 });
  for (const series of new Set(samples.map(without))) {
    const of = (suffix: string) =>
      samples.filter((entry) => entry.name === `${name}${suffix}` && without(entry) === series);
    const buckets = of('_bucket');
    const bounds = buckets.map(({ labels }) => toNumber(labels['le'] ?? ''));
    const counts = buckets.map(({ value }) => value);
    const isWhole =
      of('_sum').length === 1 &&
      of('_count').length === 1 &&
      bounds.at(-1) === Number.POSITIVE_INFINITY &&
      counts.at(-1) === of('_count')[0]?.value &&
      bounds.every((bound, index) => index === 0 || bound > (bounds[index - 1] ?? Number.NaN)) &&
      counts.every((value, index) => index === 0 || value >= (counts[index - 1] ?? Number.NaN));
    if (!isWhole) throw new Error(`no histogram: ${series}`);
  }
}
