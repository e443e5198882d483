// Preloaded into the host by garbage.mjs: samples what it allocates for a while and leaves the profile in a file.
import { writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';

const { SAMPLE_AFTER_MS, SAMPLE_MS, SAMPLE_SURVIVORS, SAMPLE_FILE } = process.env;
const INTERVAL_BYTES = 8192;

const session = new Session();
session.connect();
setTimeout(async () => {
  await session.post('HeapProfiler.startSampling', {
    samplingInterval: INTERVAL_BYTES,
    includeObjectsCollectedByMajorGC: true,
    includeObjectsCollectedByMinorGC: SAMPLE_SURVIVORS !== 'true',
  });
  setTimeout(async () => {
    const { profile } = await session.post('HeapProfiler.stopSampling');
    writeFileSync(SAMPLE_FILE, JSON.stringify(profile));
  }, Number(SAMPLE_MS)).unref();
}, Number(SAMPLE_AFTER_MS)).unref();
