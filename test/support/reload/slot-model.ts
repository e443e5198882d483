import { expect } from 'chai';
import type { Descriptor } from '../../../core/descriptor/descriptor.js';
import { type DescriptorSource, UNREAD_SOURCE } from '../../../core/modules/descriptor-source.js';
import type { ModuleRecord } from '../../../core/modules/module-record.js';
import type { ModuleVersion } from '../../../core/modules/module-version.js';
import type { PreparedDescriptor } from '../../../core/modules/prepare-descriptor.js';
import { explainTaken } from '../../../core/modules/settle-names.js';
import { reduce } from '../../../core/modules/slot-reducer.js';
import {
  createSlotState,
  type Serving,
  type SlotEffect,
  type SlotEvent,
  type SlotState,
} from '../../../core/modules/slot-state.js';

export type Manifest = Serving['manifest'] & { readonly warnings: []; readonly files: [] };

export interface Content {
  readonly digest: string;
  readonly isOnProbation?: boolean;
  /** Whether the provider has the manifest. */
  readonly isRemote?: boolean;
  readonly isEnabled?: boolean;
}

export const INVALID = 'invalid';
const REASON = { reason: 'a reason', hint: 'a hint' };
const NO_ERRORS = { count: 0, first: null };

export function manifestOf(digest: string): Manifest {
  return {
    manifest: {
      protocol: 'modgate.manifest.v1',
      module_id: 'crm',
      capabilities: [],
      http_routes: [],
    },
    digest,
    warnings: [],
    files: [],
  };
}

/** The parts of a descriptor that the reducer reads. */
function prepare(content: Content): PreparedDescriptor {
  const { digest, isOnProbation = false, isRemote = false, isEnabled = true } = content;
  const descriptor: Partial<Descriptor> = {
    module: 'crm',
    enabled: isEnabled,
    provider: { kind: 'http', config: digest },
    manifest: isRemote ? { kind: 'provider' } : { kind: 'file', path: 'manifest.json' },
    ...(isOnProbation && { probation: { seconds: 10, max_error_rate: 0.2, min_calls: 5 } }),
  };
  const prepared: Partial<Record<keyof PreparedDescriptor, unknown>> = {
    file: 'crm.yaml',
    text: digest,
    descriptor,
    manifest: isRemote ? null : manifestOf(digest),
    inputDigest: digest,
  };
  return prepared as unknown as PreparedDescriptor;
}

export function digestOf(version: ModuleVersion | null | undefined): string | null {
  return version?.prepared.inputDigest ?? null;
}

/** A slot whose effects are recorded, and whose openings and manifests end when a test says so. */
export class SlotModel {
  state: SlotState = createSlotState('crm.yaml', new Date(0));
  readonly published: Omit<ModuleRecord, 'live'>[] = [];
  readonly versions: ModuleVersion[] = [];
  readonly #closed = new Set<ModuleVersion>();
  served: Serving | null = null;
  stored: { readonly serving: Serving; readonly rejected: string | null } | null = null;
  opening: Extract<SlotEffect, { kind: 'open' }> | null = null;
  requests: ModuleVersion[] = [];
  timers: SlotEvent[] = [];
  probation: ModuleVersion | null = null;
  announced: string | null = null;
  #now = 0;

  /** The versions that are not closed. */
  get open(): readonly ModuleVersion[] {
    return this.versions.filter((version) => !this.#closed.has(version));
  }

  send(event: SlotEvent): this {
    this.#now += 1000;
    const { state, effects } = reduce(this.state, event, new Date(this.#now));
    this.state = state;
    for (const effect of effects) this.#run(effect);
    return this;
  }

  /** @param asksAgain whether the same file is read again after SIGHUP */
  write(content: Content | typeof INVALID, owner: string | null = null, asksAgain = false): this {
    const base = { ...UNREAD_SOURCE, name: 'crm' };
    const invalid = { ...base, textDigest: INVALID, problem: REASON };
    const source: DescriptorSource =
      content === INVALID
        ? invalid
        : { ...base, wantedName: 'crm', textDigest: content.digest, prepared: prepare(content) };
    this.send({ kind: 'read', source });
    const storedRejection = this.served === null ? (this.stored?.rejected ?? null) : null;
    const conflict = owner === null ? null : explainTaken('crm', owner);
    return this.send({ kind: 'applied', taken: conflict, storedRejection, asksAgain });
  }

  finishOpening(result: 'opened' | 'openFailed' | 'faulty' = 'opened'): this {
    const { opening } = this;
    if (opening === null) return this;
    this.opening = null;
    const prepared = opening.prepared ?? this.stored?.serving.version.prepared;
    if (result === 'openFailed' || prepared === undefined) {
      return this.send({ kind: 'openFailed', reason: REASON });
    }
    const manifest =
      opening.prepared === null ? this.stored?.serving.manifest : opening.prepared.manifest;
    const version = { prepared: { ...prepared, manifest } } as unknown as ModuleVersion;
    this.versions.push(version);
    const errors = result === 'faulty' ? { count: 1, first: 'TypeError' } : NO_ERRORS;
    return this.send({ kind: 'opened', version, errors });
  }

  answerManifest(
    result: 'loaded' | 'changed' | 'unavailable' | 'invalid',
    lastGood: Manifest | null = null,
  ): this {
    const version = this.requests.shift();
    if (version === undefined) return this;
    const manifest = manifestOf(`${digestOf(version)}-manifest${result === 'changed' ? '-2' : ''}`);
    if (result === 'loaded' || result === 'changed')
      return this.send({ kind: 'manifestLoaded', version, manifest });
    if (result === 'invalid') {
      return this.send({ kind: 'manifestInvalid', version, reason: REASON });
    }
    return this.send({ kind: 'manifestUnavailable', version, reason: REASON, lastGood });
  }

  fireTimer(index = 0): this {
    const [timer] = this.timers.splice(index % Math.max(1, this.timers.length), 1);
    return timer ? this.send(timer) : this;
  }

  endProbation(failure: string | null): this {
    const version = this.probation;
    return version === null ? this : this.send({ kind: 'probationEnded', version, failure });
  }

  throwIn(version: ModuleVersion | undefined): this {
    return version ? this.send({ kind: 'threw', version, first: 'TypeError' }) : this;
  }

  /** The same files in a new process. */
  restart(): SlotModel {
    const next = new SlotModel();
    next.stored = this.stored;
    return next;
  }

  #run(effect: SlotEffect): void {
    switch (effect.kind) {
      case 'open':
        expect(this.opening, 'versions that are opened at the same time').to.equal(null);
        this.opening = effect;
        return;
      case 'close':
        this.#close(effect.version);
        return;
      case 'serve':
        this.served = effect.serving;
        if (effect.serving) expect(this.open).to.include(effect.serving.version);
        if (effect.retired) this.#close(effect.retired);
        return;
      case 'requestManifest':
        this.requests.push(effect.version);
        return;
      case 'retryManifest':
        this.timers.push({ kind: 'manifestDue', version: effect.version });
        return;
      case 'retryOpening':
        this.timers.push({ kind: 'reopenDue', version: effect.version });
        return;
      case 'startProbation':
        this.probation = effect.version;
        return;
      case 'endProbation':
        this.probation = null;
        return;
      case 'announce':
        this.announced = effect.rejected.digest;
        return;
      case 'storeLastGood':
        expect(effect.serving.version, 'stored').to.not.equal(this.probation);
        this.stored = effect;
        return;
      case 'removeLastGood':
        if (effect.file === this.state.file) this.stored = null;
        return;
      case 'publish':
        this.published.push({ ...effect.record, mounts: [] });
    }
  }

  #close(version: ModuleVersion): void {
    expect(this.open, 'a version that is closed').to.include(version);
    expect(version, 'closed').to.not.equal(this.served?.version);
    this.#closed.add(version);
  }

  /** Closes the serving version too at the end of a host. */
  end(kind: 'removed' | 'closed'): this {
    if (kind === 'closed') this.served = null;
    return this.send({ kind });
  }
}
