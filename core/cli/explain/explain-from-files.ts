import { parseDevToken } from '../../auth/dev-tokens.js';
import type { Actor } from '../../contract/index.js';
import { InvalidFile } from '../../document/diagnostic.js';
import { explainPath } from '../../http/routes/explain-query.js';
import { createLiveModule } from '../../modules/live-module.js';
import type { ModuleConfig } from '../../modules/module-config.js';
import { readModuleDocument } from '../../modules/module-documents.js';
import type { ModuleState } from '../../modules/module-states.js';
import { configDigestOf, type DescriptorContext } from '../../modules/prepare-descriptor.js';
import { explainError } from '../../modules/state-reason.js';
import { explainRequest } from '../../operations/explain/explain-request.js';
import type {
  ExplainedModule,
  ExplainedRecord,
} from '../../operations/explain/explained-request.js';
import type { Explanation } from '../../operations/explain/explanation.js';
import type { ProviderClient } from '../../provider/provider-client.js';
import { type CheckedDescriptor, checkDescriptors } from '../check/check-descriptors.js';

interface ExplainTarget {
  readonly method: string;
  readonly target: string;
  /** A development token, as others need a host. */
  readonly as: string | null;
}

/** Explains how a host with these files would handle a request. */
export async function explainFromFiles(
  { method, target, as }: ExplainTarget,
  modulesDir: string,
  context: DescriptorContext,
): Promise<Explanation> {
  const { descriptors } = await checkDescriptors(modulesDir, context);
  return explainRequest(
    { method, target, path: explainPath(target), actor: await readActor(as) },
    {
      records: descriptors.map(createRecord),
      documents: { read: (file) => readModuleDocument(modulesDir, file) },
    },
  );
}

async function readActor(token: string | null): Promise<Actor | null> {
  return token === null ? null : parseDevToken(token);
}

function createRecord(checked: CheckedDescriptor): ExplainedRecord {
  const { entry, module, diagnostics } = checked;
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
    endpoints: [],
  };
}

/** The reasons of states of valid files. */
const REASONS: Partial<Record<ModuleState, string>> = {
  disabled: 'enabled is false in the descriptor',
  waiting: 'its manifest is loaded by the host',
};

function findState({ prepared }: CheckedDescriptor, live: ExplainedModule | null): ModuleState {
  if (prepared === null) return 'refused';
  if (!prepared.descriptor.enabled) return 'disabled';
  return live === null ? 'waiting' : 'live';
}

/** `null` for a module that a host would not serve, or not before it has loaded the manifest. */
function createModule({ prepared }: CheckedDescriptor): ExplainedModule | null {
  const read = prepared?.manifest ?? null;
  if (prepared === null || read === null || !prepared.descriptor.enabled) return null;
  const { manifest, digest } = read;
  return createLiveModule({
    descriptor: prepared.descriptor,
    manifest,
    manifestDigest: digest,
    configDigest: configDigestOf(prepared.inputDigest, digest),
    // The provider is not opened, and explaining does not call it.
    client: null as unknown as ProviderClient,
    config: null as unknown as ModuleConfig,
  });
}
