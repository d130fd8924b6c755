/** The default theme, with views of charts and of recorded incidents. */
import type { Theme } from 'vitepress';
import DefaultTheme from 'vitepress/theme';
import ChartView from './ChartView.vue';
import IncidentPage from './IncidentPage.vue';
import './style.css';

const theme: Theme = {
  extends: DefaultTheme,
  enhanceApp: ({ app }) => {
    app.component('ChartView', ChartView);
    app.component('IncidentPage', IncidentPage);
  },
};

export default theme;
