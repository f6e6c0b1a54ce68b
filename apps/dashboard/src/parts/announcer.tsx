import { createContext, type ReactNode, useCallback, useContext, useState } from 'react'
import styles from './announcer.module.css'

type Announce = (text: string) => void

const AnnounceContext = createContext<Announce>(() => {})

/** Says something to screen readers without moving the focus. */
export const useAnnounce = (): Announce => useContext(AnnounceContext)

/** Holds the page's live region (WAI-ARIA 1.2, `status`). */
export function Announcer({ children }: { readonly children: ReactNode }) {
  const [said, setSaid] = useState({ text: '', count: 0 })
  const announce = useCallback((text: string) => setSaid(({ count }) => ({ text, count: count + 1 })), [])
  return (
    <AnnounceContext value={announce}>
      {children}
      <div role="status" className={styles.region}>
        {/* The same words once more are a change only if the element is another. */}
        <span key={said.count}>{said.text}</span>
      </div>
    </AnnounceContext>
  )
}
