import type { ReactNode } from 'react'
import { Button } from 'react-aria-components/Button'
import { Header } from 'react-aria-components/Header'
import { Menu, MenuItem, MenuSection, MenuTrigger } from 'react-aria-components/Menu'
import { Popover } from 'react-aria-components/Popover'
import styles from './menu-button.module.css'

interface Item {
  readonly id: string
  readonly text: string
  readonly isCurrent?: boolean
}

interface Props {
  readonly label: string
  readonly sections: readonly { readonly title: string; readonly items: readonly Item[] }[]
  readonly onAction: (id: string) => void
  readonly children: ReactNode
}

/** A button that opens a menu. */
export const MenuButton = ({ label, sections, onAction, children }: Props) => (
  <MenuTrigger>
    <Button className={styles.button} aria-label={label}>
      {children}
      <svg className={styles.arrow} viewBox="0 0 10 6" aria-hidden="true">
        <path d="m1 1 4 4 4-4" />
      </svg>
    </Button>
    <Popover className={styles.popover} placement="bottom end">
      <Menu className={styles.menu} onAction={(key) => onAction(String(key))}>
        {sections.map(({ title, items }) => (
          <MenuSection key={title} className={styles.section}>
            <Header className={styles.title}>
              <bdi>{title}</bdi>
            </Header>
            {items.map(({ id, text, isCurrent }) => (
              <MenuItem key={id} id={id} className={styles.item} textValue={isCurrent ? `${text} (present)` : text}>
                <bdi>{text}</bdi>
                {isCurrent && <span aria-hidden="true">✓</span>}
              </MenuItem>
            ))}
          </MenuSection>
        ))}
      </Menu>
    </Popover>
  </MenuTrigger>
)
