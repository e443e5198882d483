import { createDevAuthenticator } from '../../auth/dev-tokens.js';
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

export interface FileQuestion {
  readonly method: string;
  readonly target: string;
  /** A development token: a host alone knows others. */
  readonly as: string | null;
}

/** What a host that starts with these files does with a request. */
export async function explainFromFiles(
  { method, target, as }: FileQuestion,
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
  return token === null ? null : createDevAuthenticator().authenticate({ scheme: 'bearer', token });
}

function createRecord(judged: CheckedDescriptor): ExplainedRecord {
  const { entry, module, findings } = judged;
  const live = createModule(judged);
  const state = findState(judged, live);
  const trouble =
    state === 'refused'
      ? explainError(new InvalidFile(findings))
      : { reason: REASONS[state] ?? null, hint: null };
  return {
    file: entry.file,
    name: module,
    state,
    since: new Date(),
    ...trouble,
    live,
    endpoints: [],
  };
}

/** Of states that are no fault of the file. */
const REASONS: Partial<Record<ModuleState, string>> = {
  disabled: 'enabled is false in the descriptor',
  waiting: 'its manifest is not at hand: the host asks for it',
};

function findState({ prepared }: CheckedDescriptor, live: ExplainedModule | null): ModuleState {
  if (prepared === null) return 'refused';
  if (!prepared.descriptor.enabled) return 'disabled';
  return live === null ? 'waiting' : 'live';
}

/** `null` for what a host would not serve, or not before it has asked for the manifest. */
function createModule({ prepared }: CheckedDescriptor): ExplainedModule | null {
  const read = prepared?.manifest ?? null;
  if (prepared === null || read === null || !prepared.descriptor.enabled) return null;
  const { manifest, digest } = read;
  return createLiveModule({
    descriptor: prepared.descriptor,
    manifest,
    manifestDigest: digest,
    configDigest: configDigestOf(prepared.inputDigest, digest),
    // Nothing is opened, so there is nothing to call, and nobody here calls it.
    client: null as unknown as ProviderClient,
    config: null as unknown as ModuleConfig,
  });
}
