import { importerSuite } from '../../core/testkit/index.js';
import { SHIPPED_IMPORTERS } from '../support/testkit/shipped-importers.js';

for (const subject of SHIPPED_IMPORTERS) importerSuite(subject);
