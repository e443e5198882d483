import { parseDevToken } from '../../auth/dev-tokens.js';
import { InvalidFile } from '../../document/diagnostic.js';
import { parseAddress } from '../../http/request/target.js';
import { ANONYMOUS, createAnonymous } from '../../lib/actor-name.js';
import { createRoutedModule, type RoutedModule } from '../../modules/live-module.js';
import { readModuleDocument } from '../../modules/module-documents.js';
import type { ModuleState } from '../../modules/module-record.js';
import { createMountTable, type MountingRecord } from '../../modules/mount-table.js';
import { configDigestOf, type DescriptorContext } from '../../modules/prepare-descriptor.js';
import { explainError } from '../../modules/state-reason.js';
import { explainRequest } from '../../operations/explain/explain-request.js';
import type { ExplainedRecord } from '../../operations/explain/explained-request.js';
import type { Explanation } from '../../operations/explain/explanation.js';
import { type CheckedDescriptor, checkDescriptors } from '../check/check-descriptors.js';

export interface ExplainTarget {
  readonly method: string;
  readonly target: string;
  /** The token of the caller; of files only a development token, since others require a host. */
  readonly as: string | null;
  /** The address of the client; `null` if it is unknown. */
  readonly client: string | null;
}

export async function explainFromFiles(
  { method, target, as, client }: ExplainTarget,
  modulesDir: string,
  context: DescriptorContext,
): Promise<Explanation> {
  const { descriptors } = await checkDescriptors(modulesDir, context);
  const records = descriptors.map(createRecord);
  const reserved = context.reservedPrefixes?.current ?? new Set();
  const mounts = createMountTable(records, { publicHost: null, reserved });
  return explainRequest(
    {
      method,
      target,
      path: parseAddress(target, { mounts }),
      actor: as === null || as === ANONYMOUS ? createAnonymous('') : await parseDevToken(as),
      client,
    },
    {
      records,
      // Development tokens have no roles.
      roles: { describeHolders: () => null },
      documents: { read: (file) => readModuleDocument(modulesDir, file) },
    },
  );
}

function createRecord(checked: CheckedDescriptor): ExplainedRecord & MountingRecord {
  const { entry, module, mounts, diagnostics } = checked;
  const live = createModule(checked);
  const state = findState(checked, live);
  const explanation =
    state === 'refused'
      ? explainError(new InvalidFile(diagnostics))
      : { reason: REASONS[state] ?? null, hint: null };
  return {
    file: entry.file,
    name: module,
    state,
    since: new Date(),
    ...explanation,
    live,
    mounts,
    descriptor: checked.prepared?.descriptor ?? null,
    endpoints: [],
  };
}

/** The reasons of states of valid files. */
const REASONS: Partial<Record<ModuleState, string>> = {
  disabled: 'enabled is false in the descriptor',
  waiting: 'its manifest is loaded by the host',
};

function findState({ prepared }: CheckedDescriptor, live: RoutedModule | null): ModuleState {
  if (prepared === null) return 'refused';
  if (!prepared.descriptor.enabled) return 'disabled';
  return live === null ? 'waiting' : 'live';
}

/** Returns `null` for a module that a host would not serve, or not before it has a manifest. */
function createModule({ prepared }: CheckedDescriptor): RoutedModule | null {
  const read = prepared?.manifest ?? null;
  if (prepared === null || read === null || !prepared.descriptor.enabled) return null;
  const { manifest, digest } = read;
  return createRoutedModule({
    descriptor: prepared.descriptor,
    manifest,
    manifestDigest: digest,
    configDigest: configDigestOf(prepared.inputDigest, digest),
  });
}
