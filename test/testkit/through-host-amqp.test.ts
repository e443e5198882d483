import { throughHostSuite } from '../support/testkit/through-host-suite.js';

throughHostSuite('amqp');
