import { useEffect, useRef, useState } from 'react'
import type { LoadBalancerExplanation } from '../../api/explanation.ts'
import type { Rates } from './path-graph.ts'
import { ratesBetween } from './rates.ts'

/** Two readings closer than this say little about a rate. */
const LEAST_MS = 1500

/** Rates of the listeners, from this reading and one before. @param at when it was read, in milliseconds since 1970 */
export function useRates(told: LoadBalancerExplanation, at: number): Rates {
  const before = useRef({ told, at })
  const [rates, setRates] = useState<Rates>(new Map())
  useEffect(() => {
    const passedMs = at - before.current.at
    if (passedMs < LEAST_MS) return
    setRates(ratesBetween(before.current.told, told, passedMs / 1000))
    before.current = { told, at }
  }, [told, at])
  return rates
}
