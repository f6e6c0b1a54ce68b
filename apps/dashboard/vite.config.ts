import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

/** The control plane serves the page here. */
const BASE = '/ui/'

export default defineConfig({
  base: BASE,
  plugins: [react()],
  // The policy of the page forbids `data:` URLs, so nothing is inlined.
  build: {
    outDir: '../../build/dashboard',
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
})
