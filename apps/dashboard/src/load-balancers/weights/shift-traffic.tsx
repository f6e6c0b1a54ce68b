import { lazy, Suspense, useState } from 'react'
import { Button } from '../../parts/button.tsx'
import type { WeightPlace } from './weighted.ts'

const WeightPanel = lazy(async () => ({ default: (await import('./weight-panel.tsx')).WeightPanel }))

interface Props {
  readonly id: string
  readonly place: WeightPlace
  readonly title: string
}

/** Opens the sliders of one place. They are loaded when first opened. */
export function ShiftTraffic({ id, place, title }: Props) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button aria-expanded={isOpen} onPress={() => setOpen(!isOpen)}>
        Shift traffic of {title}
      </Button>
      {isOpen && (
        <Suspense>
          <WeightPanel id={id} place={place} title={title} />
        </Suspense>
      )}
    </>
  )
}
