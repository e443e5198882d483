import type { AdapterCounter } from '../contract/index.js';

/** Of a module: an adapter counts a few things, not one for each caller or path. */
const MAX_COUNTERS = 16;
const MAX_NAME_LENGTH = 64;
const MAX_HELP_LENGTH = 200;
const NAME = /^[a-z][a-z0-9_]*_total$/;
/** Without control characters, which would break lines of the exposition format. */
const HELP = /^[^\p{Cc}]+$/u;

/** A metric of an adapter, for one module. */
export interface CountedMetric {
  /** `modgate_<kind>_<name>` */
  readonly metric: string;
  readonly help: string;
  readonly value: number;
}

/** What the adapters of a module have counted, over all its versions. */
export class AdapterCounters {
  readonly #counted = new Map<string, { metric: string; help: string; value: number }>();

  /** @throws Error for an invalid name or help, and beyond the limit. */
  open(kind: string, name: string, help: string): AdapterCounter {
    const metric = `modgate_${kind.replaceAll('-', '_')}_${name}`;
    const counted = this.#counted.get(metric) ?? this.#create(metric, name, help);
    return {
      add: (count = 1) => {
        if (!Number.isFinite(count) || count < 0) {
          throw new RangeError(`a counter must grow by a number of at least 0`);
        }
        counted.value += count;
      },
    };
  }

  list(): Iterable<CountedMetric> {
    return this.#counted.values();
  }

  #create(metric: string, name: string, help: string) {
    if (!NAME.test(name) || name.length > MAX_NAME_LENGTH) {
      throw new Error(`a counter of an adapter must have a name such as 'late_answers_total'`);
    }
    if (!HELP.test(help) || help.length > MAX_HELP_LENGTH) {
      const expected = `a help text of 1 to ${MAX_HELP_LENGTH} printable characters`;
      throw new Error(`the counter '${name}' of an adapter must have ${expected}`);
    }
    if (this.#counted.size >= MAX_COUNTERS) {
      throw new Error(`an adapter must not have more than ${MAX_COUNTERS} counters`);
    }
    const counted = { metric, help, value: 0 };
    this.#counted.set(metric, counted);
    return counted;
  }
}
