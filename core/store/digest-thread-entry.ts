import { parentPort } from 'node:worker_threads';
import { type DigestedValue, digestValue } from './value-digest.js';

parentPort?.on('message', (value: DigestedValue) => parentPort?.postMessage(digestValue(value)));
