import type { LoadBalancerExplanation } from '../../api/explanation.ts'
import { conditionsText } from '../path/route-text.ts'
import { ShiftTraffic } from './shift-traffic.tsx'
import { weighedRoutes } from './weighed-places.ts'
import styles from './weight-panel.module.css'

interface Props {
  readonly id: string
  readonly listeners: LoadBalancerExplanation['listeners']
}

/** The routes that send to several pools by weight, each with its sliders. */
export function WeighedRoutes({ id, listeners }: Props) {
  const routes = weighedRoutes(listeners)
  if (routes.length === 0) return null
  return (
    <div className={styles.places}>
      {routes.map(({ listenerId, route: { id: routeId, name, conditions } }) => (
        <ShiftTraffic
          key={routeId}
          id={id}
          place={{ of: 'route', listenerId, routeId }}
          title={`route ${name || conditionsText(conditions)}`}
        />
      ))}
    </div>
  )
}
