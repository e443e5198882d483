import type { ConsoleContribution } from '../../contract/index.js';
import { HostError } from '../../errors.js';
import { injectable } from '../../injection.js';
import { compareNames } from '../../lib/compare-texts.js';
import { sliceEntry, sliceMember } from '../../lib/json/json-structure.js';
import type { Generation, LiveModule } from '../../modules/live-module.js';
import { holdsPermission } from '../authorization.js';
import type { BridgeCall, BridgeOperation } from './bridge-operation.js';
import type { BridgePayloads } from './bridge-payload.js';
import { findByModuleId } from './find-by-module-id.js';

type Payload = BridgePayloads['contributions_resolve'];

/**
 * The maximum of all bound values, because every binding of every contribution may repeat the whole
 * context: 1 MB would become 200 MB. Equal to the default maximum of a provider's response. Bytes.
 */
const MAX_BOUND_BYTES = 4_194_304;

/** Lists the contributions of all live modules to one slot, by module name, then in manifest order. */
@injectable()
export class ContributionsResolve implements BridgeOperation<Payload> {
  readonly name = 'contributions_resolve';

  isDeclared(_payload: Payload, { module, permission }: BridgeCall): boolean {
    return module.manifest.capabilities.includes(permission);
  }

  async execute(payload: Payload, call: BridgeCall): Promise<Buffer> {
    const { generation, request } = call;
    const versions = listSlotVersions(generation, payload.target);
    const context = new BoundContext(call.body);
    const modules = [...generation.values()].sort(compareNames);
    const data = modules.flatMap((module) =>
      (module.manifest.console_contributions ?? [])
        .filter(({ target }) => target === payload.target)
        .filter(({ target_version }) => fits(target_version, versions))
        .filter(({ required_capabilities = [] }) =>
          required_capabilities.every((capability) => holdsPermission(request.actor, capability)),
        )
        .flatMap((contribution) => describeContribution(contribution, module, generation, context)),
    );
    return Buffer.from(`{"data":[${data.join(',')}]}`);
  }
}

/** The versions of the live slots with this id; several modules may have one. */
function listSlotVersions(generation: Generation, target: string): ReadonlySet<number> {
  const slots = [...generation.values()].flatMap(({ manifest }) => manifest.console_slots ?? []);
  return new Set(slots.filter(({ id }) => id === target).map(({ version }) => version));
}

/** Every version matches if no live module has the slot. */
function fits(version: number | undefined, versions: ReadonlySet<number>): boolean {
  return version === undefined || versions.size === 0 || versions.has(version);
}

/**
 * The JSON of a contribution; nothing for an action that no live module has, because a console could
 * not invoke it.
 */
function describeContribution(
  contribution: ConsoleContribution,
  contributor: LiveModule,
  generation: Generation,
  context: BoundContext,
): string[] {
  const { action, target, label, icon = null, required_capabilities = [] } = contribution;
  const owner = findActionModule(action.module, contributor, generation);
  const actions = owner?.manifest.admin?.actions ?? [];
  if (owner === null || !actions.some(({ name }) => name === action.name)) return [];
  const described = {
    kind: action.kind,
    key: `${contributor.manifest.module_id}:${target}:${action.name}`,
    label,
    moduleName: owner.name,
    actionName: action.name,
    icon,
    requiredCapabilities: required_capabilities,
  };
  const input = bindInput(contribution, context);
  return [`${JSON.stringify(described).slice(0, -1)},"input":${input}}`];
}

/** The module of the action: `action.module` is the id of the contributor, a name, or another id. */
function findActionModule(
  moduleName: string,
  contributor: LiveModule,
  generation: Generation,
): LiveModule | null {
  if (contributor.manifest.module_id === moduleName) return contributor;
  return generation.get(moduleName) ?? findByModuleId(generation, moduleName);
}

/** Each step of each path reads what is below the step before it. Bytes. */
const MAX_READ_BYTES = 8_388_608;

/** The context of a client, and the amount of it in the response. */
class BoundContext {
  readonly #context: Buffer | null;
  readonly #bound = new Map<string, string | undefined>();
  #boundBytes = 0;
  #readBytes = 0;

  constructor(body: Buffer) {
    const payload = sliceMember(body, 'payload');
    this.#context = payload && sliceMember(payload, 'context');
  }

  /**
   * The JSON of a value as the client sent it, such as `selected_user.roles.0.id`, so that numbers,
   * which may be keys of rows, keep all digits; `undefined` if it does not exist.
   * @throws HostError 400 when the values of all bindings are too large, or too long to find.
   */
  read(path: string): string | undefined {
    const bound = this.#bound.has(path) ? this.#bound.get(path) : this.#slice(path);
    this.#bound.set(path, bound);
    this.#boundBytes += Buffer.byteLength(bound ?? '');
    if (this.#boundBytes > MAX_BOUND_BYTES) throw createContextError(TOO_MANY_BYTES);
    return bound;
  }

  #slice(path: string): string | undefined {
    let value = this.#context;
    for (const key of path.split('.')) {
      if (value === null) return undefined;
      this.#readBytes += value.length;
      if (this.#readBytes > MAX_READ_BYTES) throw createContextError(TOO_MUCH_TO_READ);
      value = sliceEntry(value, key);
    }
    return value?.toString('utf8');
  }
}

const TOO_MANY_BYTES = `its values would take more than ${MAX_BOUND_BYTES} bytes of the response`;
const TOO_MUCH_TO_READ = `its values are found in more than ${MAX_READ_BYTES} bytes`;

function createContextError(reason: string): HostError {
  return new HostError('validation_failed', 'the context is too large for the bindings', {
    errors: [{ field: 'payload.context', reason }],
    nextActions: ['send only the values that the contributions use'],
  });
}

/** Omits paths that the context does not have; `null` is a value. */
function bindInput({ action }: ConsoleContribution, context: BoundContext): string {
  const input = new Map<string, string>();
  for (const { input: name, value } of action.input_bindings ?? []) {
    const bound = context.read(value.path);
    if (bound !== undefined) input.set(name, `${JSON.stringify(name)}:${bound}`);
  }
  return `{${[...input.values()].join(',')}}`;
}
