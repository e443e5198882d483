import { shippedSuite } from '../support/testkit/shipped-suite.js';

shippedSuite('mcp');
