import type { Descriptor } from '../../descriptor/descriptor.js';
import { HostError } from '../../errors.js';
import { isInRanges } from '../../lib/address-list.js';
import type { RoutedModule, WaitingModule } from '../../modules/live-module.js';
import type { ExplainedModules } from '../explain/explained-request.js';
import { decide, unknown } from '../explain/step-report.js';
import type { ReportedStep } from '../step.js';
import type { Caller } from './route-call.js';

/** A request to a route of a module or to its bridge, or an explained one. */
interface Addressed {
  readonly request: Pick<Caller, 'client'>;
  readonly module: RoutedModule | null;
  readonly waiting: WaitingModule | null;
  /** The addresses of a live or waiting module; absent if every address may call. */
  readonly allow: Descriptor['allow'];
}

/** Hides from addresses that may not call whether the module is live or waiting. */
const nameOf = ({ module, waiting }: Addressed) => module?.name ?? waiting?.module ?? 'not live';

/**
 * Admits the addresses of `allow`, before credentials are read. The 403 reveals that the module exists to a client
 * that guesses its name.
 */
export const clientStep: ReportedStep<Addressed, Addressed & Pick<ExplainedModules, 'record'>> = {
  name: 'client',
  run(call) {
    const { allow, request } = call;
    if (allow === undefined) return;
    // An unknown address is not checked.
    if (request.client !== null && isInRanges(request.client.address, allow.addresses)) return;
    throw new HostError('forbidden', 'the module is not open to this address', {
      errors: [{ field: 'module', reason: nameOf(call) }],
      nextActions: ['call it from another network, or ask the operators of the host'],
      reason: 'address',
    });
  },
  explain(explained) {
    const { allow, request, record } = explained;
    if (allow === undefined) return undefined;
    const allowed = allow.addresses.join(', ');
    if (request.client === null) return unknown(`${record?.file} allows ${allowed}: name a client`);
    const { address } = request.client;
    return decide(
      () => this.run(explained),
      `${record?.file} allows ${address}`,
      () => ({
        detail: `${record?.file} allows ${allowed}, not ${address}`,
        next_actions: [`add ${address} to allow.addresses in ${record?.file}`],
      }),
    );
  },
};
