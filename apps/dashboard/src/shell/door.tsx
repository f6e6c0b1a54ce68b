import { LiveProvider } from '../live/live-provider.tsx'
import { SessionGate } from '../session/session-gate.tsx'
import { Frame } from './frame.tsx'

/** The frame with its page, for those who are logged in. */
export const Door = () => (
  <SessionGate>
    <LiveProvider>
      <Frame />
    </LiveProvider>
  </SessionGate>
)
