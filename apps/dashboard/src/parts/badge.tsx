import type { ReactNode } from 'react'
import styles from './badge.module.css'

export type Tone = 'ok' | 'warn' | 'bad' | 'quiet'

/** How something is, in a word. Its mark has a shape for each tone: colour alone tells nothing to many people. */
export const Badge = ({ tone, children }: { readonly tone: Tone; readonly children: ReactNode }) => (
  <span className={`${styles.badge} ${styles[tone]}`}>
    <Mark tone={tone} />
    {children}
  </span>
)

const SHAPES: Readonly<Record<Tone, string>> = {
  ok: 'M6 1a5 5 0 1 0 0 10A5 5 0 0 0 6 1Z',
  warn: 'M6 1 11.2 10.5H.8Z',
  bad: 'M6 .6 11.4 6 6 11.4.6 6Z',
  quiet: 'M6 1a5 5 0 1 0 0 10A5 5 0 0 0 6 1Zm0 2a3 3 0 1 1 0 6 3 3 0 0 1 0-6Z',
}

/** The mark alone, for places that say the rest in words. */
export const Mark = ({ tone }: { readonly tone: Tone }) => (
  <svg className={`${styles.mark} ${styles[`${tone}Mark`]}`} viewBox="0 0 12 12" aria-hidden="true">
    <path d={SHAPES[tone]} />
  </svg>
)
