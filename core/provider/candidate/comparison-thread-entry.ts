import { parentPort } from 'node:worker_threads';
import { type ComparedBodies, compareBodies } from './comparison.js';

parentPort?.on('message', (bodies: ComparedBodies) =>
  parentPort?.postMessage(compareBodies(bodies)),
);
