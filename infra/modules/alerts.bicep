metadata description = 'Alerts that cost little: three metric alerts, and one log alert every 15 minutes over the events of the app.'

@description('Base of the names of the rules.')
param base string

@description('Name of the action group.')
param actionGroupName string

@description('Region.')
param location string

@description('Tags.')
param tags object

@description('Mail address, or empty.')
param email string

@description('Id of an existing action group, or empty.')
param existingGroupId string

@description('Address of the folder docs/ for people, or empty.')
param docsUrl string

@description('Keys: heartbeat, serverErrors, storageThrottling, events. false switches one off.')
param switches object

@description('Id of the app.')
param siteId string

@description('Names of the storage accounts that the app uses.')
param storageNames array

@description('Id of the Application Insights component.')
param insightsId string

@description('Id of the workspace.')
param workspaceId string

@description('Metric that counts executions.')
param heartbeatMetric string

@description('Demand that stays unmet for this long raises an alert.')
param unmetMinutes int

var heartbeatOn = switches.?heartbeat ?? true
var serverErrorsOn = switches.?serverErrors ?? true
var storageThrottlingOn = switches.?storageThrottling ?? true
var eventsOn = switches.?events ?? true
var groupIds = concat(empty(email) ? [] : [actionGroup.id], empty(existingGroupId) ? [] : [existingGroupId])
var actions = map(groupIds, id => { actionGroupId: id })
var page = empty(docsUrl) ? 'docs/emergency.md in the repository of the autoscaler' : '${docsUrl}/emergency.md'
var singleResource = 'Microsoft.Azure.Monitor.SingleResourceMultipleMetricCriteria'
var withSource = replace(loadTextContent('events.kql'), 'INSIGHTS_ID', insightsId)
var withMinutes = replace(withSource, 'UNMET_MINUTES', string(unmetMinutes))
var query = replace(replace(withMinutes, 'HEARTBEAT', heartbeatOn ? 'on' : 'off'), 'EVENTS', eventsOn ? 'on' : 'off')

resource actionGroup 'Microsoft.Insights/actionGroups@2023-01-01' = if (!empty(email)) {
  name: actionGroupName
  location: 'global'
  tags: tags
  properties: {
    groupShortName: 'autoscaler'
    enabled: true
    emailReceivers: [
      {
        name: 'mail'
        emailAddress: email
        useCommonAlertSchema: true
      }
    ]
  }
}

// The timer runs every minute. This fires where the metric says 0. A series that has ended says nothing: the log alert finds that.
resource heartbeat 'Microsoft.Insights/metricAlerts@2018-03-01' = if (heartbeatOn) {
  name: 'alert-heartbeat-${base}'
  location: 'global'
  tags: tags
  properties: {
    description: 'No function ran for 15 minutes. What to do: ${page}'
    severity: 1
    enabled: true
    scopes: [siteId]
    evaluationFrequency: 'PT5M'
    windowSize: 'PT15M'
    autoMitigate: true
    criteria: {
      'odata.type': singleResource
      allOf: [
        {
          criterionType: 'StaticThresholdCriterion'
          name: 'executions'
          metricNamespace: 'Microsoft.Web/sites'
          metricName: heartbeatMetric
          // A new app has no series yet.
          skipMetricValidation: true
          timeAggregation: 'Total'
          operator: 'LessThanOrEqual'
          threshold: 0
        }
      ]
    }
    actions: actions
  }
}

resource serverErrors 'Microsoft.Insights/metricAlerts@2018-03-01' = if (serverErrorsOn) {
  name: 'alert-5xx-${base}'
  location: 'global'
  tags: tags
  properties: {
    description: 'More than 10 calls in 15 minutes were answered with 5xx. What to do: ${page}'
    severity: 2
    enabled: true
    scopes: [siteId]
    evaluationFrequency: 'PT5M'
    windowSize: 'PT15M'
    autoMitigate: true
    criteria: {
      'odata.type': singleResource
      allOf: [
        {
          criterionType: 'StaticThresholdCriterion'
          name: 'server-errors'
          metricNamespace: 'Microsoft.Web/sites'
          metricName: 'Http5xx'
          skipMetricValidation: true
          timeAggregation: 'Total'
          operator: 'GreaterThan'
          threshold: 10
        }
      ]
    }
    actions: actions
  }
}

// One rule for each account: Azure does not let one rule watch two storage accounts. The first keeps the name that older releases gave it.
resource storageThrottling 'Microsoft.Insights/metricAlerts@2018-03-01' = [for (account, index) in storageNames: if (storageThrottlingOn) {
  name: index == 0 ? 'alert-throttling-${base}' : 'alert-throttling-${account}'
  location: 'global'
  tags: tags
  properties: {
    description: 'The storage account ${account} slowed calls down. What to do: ${page}'
    severity: 2
    enabled: true
    scopes: [resourceId('Microsoft.Storage/storageAccounts', account)]
    evaluationFrequency: 'PT15M'
    windowSize: 'PT15M'
    autoMitigate: true
    criteria: {
      'odata.type': singleResource
      allOf: [
        {
          criterionType: 'StaticThresholdCriterion'
          name: 'throttled'
          metricNamespace: 'Microsoft.Storage/storageAccounts'
          metricName: 'Transactions'
          dimensions: [
            {
              name: 'ResponseType'
              operator: 'Include'
              values: ['ClientThrottlingError', 'ClientAccountBandwidthThrottlingError', 'ClientAccountRequestThrottlingError', 'ServerBusyError']
            }
          ]
          timeAggregation: 'Total'
          operator: 'GreaterThanOrEqual'
          threshold: 1
        }
      ]
    }
    actions: actions
  }
}]

// One rule, because each costs about as much as all the rest of an idle app.
resource events 'Microsoft.Insights/scheduledQueryRules@2026-03-01' = if (heartbeatOn || eventsOn) {
  name: 'alert-events-${base}'
  location: location
  tags: tags
  kind: 'LogAlert'
  properties: {
    displayName: 'CycleCloud autoscaler ${base}: needs a person'
    description: 'The columns problem and cluster say what it is. What to do: ${page}'
    severity: 2
    enabled: true
    scopes: [workspaceId]
    evaluationFrequency: 'PT15M'
    windowSize: 'PT30M'
    overrideQueryTimeRange: 'PT2H'
    autoMitigate: true
    skipQueryValidation: true
    criteria: {
      allOf: [
        {
          query: query
          timeAggregation: 'Count'
          dimensions: [
            {
              name: 'problem'
              operator: 'Include'
              values: ['*']
            }
            {
              name: 'cluster'
              operator: 'Include'
              values: ['*']
            }
          ]
          operator: 'GreaterThan'
          threshold: 0
          failingPeriods: {
            numberOfEvaluationPeriods: 1
            minFailingPeriodsToAlert: 1
          }
        }
      ]
    }
    actions: { actionGroups: groupIds }
  }
}
