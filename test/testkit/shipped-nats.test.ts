import { shippedSuite } from './shipped-suite.js';

shippedSuite('nats');
