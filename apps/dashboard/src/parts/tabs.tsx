import { TabList as AriaTabList, Tab } from 'react-aria-components/Tabs'
import styles from './tabs.module.css'

export { TabPanel, TabPanels, Tabs } from 'react-aria-components/Tabs'

interface Props {
  /** What the tabs choose, for screen readers. */
  readonly label: string
  readonly tabs: readonly { readonly id: string; readonly title: string }[]
}

/** The row of tabs. It stands in `Tabs`, before `TabPanels`. */
export const TabList = ({ label, tabs }: Props) => (
  <AriaTabList aria-label={label} className={styles.list}>
    {tabs.map(({ id, title }) => (
      <Tab key={id} id={id} className={styles.tab}>
        {title}
      </Tab>
    ))}
  </AriaTabList>
)
