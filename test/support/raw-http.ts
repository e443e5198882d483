export * from '../../core/selftest/raw-http.js';
