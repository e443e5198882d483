import { assertCounter, assertStep } from '../contract/counter-rules.js';
import type { AdapterCounter } from '../contract/index.js';
import { LazyMap } from '../lib/lazy-map.js';

export interface CountedMetric {
  /** `modgate_<kind>_<name>` */
  readonly metric: string;
  readonly help: string;
  readonly value: number;
}

/** What the adapters of a module have counted, over all its versions. */
export class AdapterCounters {
  readonly #counted = new LazyMap<string, { metric: string; help: string; value: number }>();

  /** @throws Error for an invalid name or help, and beyond the limit. */
  open(kind: string, name: string, help: string): AdapterCounter {
    const metric = `modgate_${kind.replaceAll('-', '_')}_${name}`;
    const counted = this.#counted.get(metric) ?? this.#create(metric, name, help);
    return {
      add: (count = 1) => {
        assertStep(count);
        counted.value += count;
      },
    };
  }

  list(): Iterable<CountedMetric> {
    return this.#counted.values();
  }

  #create(metric: string, name: string, help: string) {
    assertCounter(name, help, this.#counted.size);
    const counted = { metric, help, value: 0 };
    this.#counted.set(metric, counted);
    return counted;
  }
}
