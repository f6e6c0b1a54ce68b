import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

/** The control plane serves the page here. */
const BASE = '/ui/'
/** Of `./dev ui`: the control plane that answers what the page asks for. */
const ENDPOINT = process.env['SPOUT_ENDPOINT']

export default defineConfig({
  base: BASE,
  plugins: [react()],
  server: { host: '127.0.0.1', ...(ENDPOINT !== undefined && { proxy: { '/api': ENDPOINT } }) },
  // The policy of the page forbids `data:` URLs, so nothing is inlined.
  build: {
    outDir: '../../build/dashboard',
    emptyOutDir: true,
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 700,
    modulePreload: { polyfill: false },
  },
})
