import { ALL_CALL_MEMBERS, type CallMemberName } from '../../contract/call-record.js';
import { createEmptyCall, type KeptCall } from '../completed-request.js';

type Name = keyof KeptCall;

/** The members that are different for each call, and their maximum length in ASCII characters. */
const IDS = { request_id: 128, correlation_id: 128, trace_id: 32 } as const;
const ID_NAMES = Object.keys(IDS) as (keyof typeof IDS)[];
const IDS_LENGTH = Object.values(IDS).reduce((sum, length) => sum + length, 0);

const NAMES = Object.keys(createEmptyCall()) as Name[];
const NUMBER_NAMES = NAMES.filter((name) => name === 'at' || isNumber(name));
/** Calls share the values of these: names of modules, routes and actors, and sets of scopes. */
const SHARED_NAMES = NAMES.filter((name) => !(name in IDS) && !NUMBER_NAMES.includes(name));

type Column = readonly [kind: 'id' | 'number' | 'shared', index: number];

const COLUMNS: ReadonlyMap<Name, Column> = new Map([
  ...ID_NAMES.map((name, index): [Name, Column] => [name, ['id', index]]),
  ...NUMBER_NAMES.map((name, index): [Name, Column] => [name, ['number', index]]),
  ...SHARED_NAMES.map((name, index): [Name, Column] => [name, ['shared', index]]),
]);

function isNumber(name: Name): boolean {
  const { kind } = ALL_CALL_MEMBERS[name as CallMemberName] ?? {};
  return kind === 'integer' || kind === 'number';
}

/**
 * Calls in tables of numbers, bytes and references, which are overwritten in place. As objects with
 * strings, thousands of calls would outlive young collections: each is copied twice, and freed by a
 * full collection only.
 */
export class CallTable {
  /** NaN for `null`. */
  readonly #numbers: Float64Array;
  readonly #shared: unknown[] = [];
  readonly #ids: Buffer;
  /** Without a trace, 0. */
  readonly #idLengths: Uint8Array;

  /** @param capacity the number of places */
  constructor(capacity: number) {
    this.#numbers = new Float64Array(capacity * NUMBER_NAMES.length);
    this.#ids = Buffer.alloc(capacity * IDS_LENGTH);
    this.#idLengths = new Uint8Array(capacity * ID_NAMES.length);
  }

  /** @param place at most the number of places that were written before */
  write(place: number, call: KeptCall): void {
    const { request_id, correlation_id, trace_id } = call;
    const traceId = trace_id ?? '';
    let index = place * NUMBER_NAMES.length;
    for (const name of NUMBER_NAMES) this.#numbers[index++] = (call[name] as number) ?? Number.NaN;
    index = place * SHARED_NAMES.length;
    for (const name of SHARED_NAMES) this.#shared[index++] = call[name];
    const ids = request_id + correlation_id + traceId;
    this.#ids.write(ids, place * IDS_LENGTH, IDS_LENGTH, 'latin1');
    index = place * ID_NAMES.length;
    this.#idLengths[index] = request_id.length;
    this.#idLengths[index + 1] = correlation_id.length;
    this.#idLengths[index + 2] = traceId.length;
  }

  /** @param place one that was written */
  read(place: number): KeptCall {
    const call = createEmptyCall();
    for (const name of NAMES) (call as Record<Name, unknown>)[name] = this.get(place, name);
    return call;
  }

  /** @param place one that was written */
  get<N extends Name>(place: number, name: N): KeptCall[N] {
    return this.#read(place, name) as KeptCall[N];
  }

  #read(place: number, name: Name): unknown {
    const [kind, index] = COLUMNS.get(name) as Column;
    if (kind === 'id') return this.#readId(place, index);
    if (kind === 'shared') return this.#shared[place * SHARED_NAMES.length + index];
    const value = this.#numbers[place * NUMBER_NAMES.length + index] as number;
    return Number.isNaN(value) ? null : value;
  }

  #readId(place: number, index: number): string | null {
    let start = place * IDS_LENGTH;
    const first = place * ID_NAMES.length;
    for (let before = 0; before < index; before += 1) start += this.#lengthAt(first + before);
    const length = this.#lengthAt(first + index);
    if (length === 0 && ID_NAMES[index] === 'trace_id') return null;
    return this.#ids.toString('latin1', start, start + length);
  }

  #lengthAt(index: number): number {
    return this.#idLengths[index] as number;
  }
}
