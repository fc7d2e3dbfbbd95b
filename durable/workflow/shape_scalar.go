package workflow
