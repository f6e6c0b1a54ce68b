import type { LoadBalancerHealth } from '@spout/model'
import { useEffect, useRef } from 'react'
import { useAnnounce } from '../../parts/announcer.tsx'
import { HEALTH_WORDS } from '../../parts/health-badge.tsx'

/** Tells screen readers when the health of what the page shows has changed. */
export function useHealthNews(name: string, health: LoadBalancerHealth): void {
  const announce = useAnnounce()
  const before = useRef(health)
  useEffect(() => {
    if (before.current === health) return
    before.current = health
    announce(`${name} is now: ${HEALTH_WORDS[health]}.`)
  }, [announce, name, health])
}
