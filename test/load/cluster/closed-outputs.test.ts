import { closedOutputsSuite } from '../../support/isolation/closed-outputs.js';

closedOutputsSuite(2);
