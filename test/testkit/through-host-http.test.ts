import { throughHostSuite } from './through-host-suite.js';

throughHostSuite('http');
