import { defineListing } from '../listing.js';
import { defineResource } from '../resource.js';
import { MODULE_OVERVIEW } from './module-overview.js';
import { moduleList } from './module-struct.js';

/** Lists the state of each descriptor. */
export const MODULES = defineResource({
  text: 'the state of every descriptor, see below',
  listing: defineListing({
    struct: moduleList,
    rows: 'modules',
    title: 'Modules',
    columns: {
      name: { title: 'Name' },
      state: { title: 'State', as: 'state' },
      reason: { title: 'Reason', only: 'page', isMinor: true },
      since: { title: 'Since', as: 'age', isMinor: true },
      digest: { title: 'Digest', as: 'digest', only: 'command' },
      'counts.calls': { title: 'Calls', as: 'number' },
      'counts.failed': { title: 'Failed', as: 'number', isMinor: true },
      'counts.in_flight': { title: 'In flight', as: 'number', isMinor: true },
    },
  }),
  needs: [MODULE_OVERVIEW],
  answer: async (_call, overview) => {
    const { modules, ignored, workers } = await overview.read();
    return { modules, ignored, workers };
  },
});
