"""The tables of the approval rule and of requests."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='ApprovalRule',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('covers_publishing', models.BooleanField(default=False)),
                ('covers_rollbacks', models.BooleanField(default=False)),
                ('covers_webhooks', models.BooleanField(default=False)),
                ('covers_pages', models.BooleanField(default=False)),
                ('days', models.PositiveSmallIntegerField(default=7)),
                ('changed_at', models.DateTimeField()),
                ('changed_by_name', models.CharField(max_length=200)),
            ],
            options={
                'ordering': ['-pk'],
                'permissions': [('manage_approvals', 'Can change the approval rule, and publish in an emergency')],
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='ApprovalRequest',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('publish', 'Publish'), ('roll_back', 'Roll back'), ('webhook', 'Change a webhook'), ('page', 'Create a page')], max_length=16)),
                ('state', models.CharField(choices=[('open', 'Needs approval'), ('approved', 'Approved'), ('declined', 'Declined'), ('withdrawn', 'Withdrawn'), ('expired', 'Expired'), ('void', 'Approval void')], default='open', max_length=16)),
                ('title', models.TextField()),
                ('note', models.TextField(blank=True)),
                ('subject', models.JSONField()),
                ('digest', models.CharField(max_length=64)),
                ('operation_key', models.CharField(max_length=128, null=True, unique=True)),
                ('requested_by_name', models.CharField(max_length=200)),
                ('by_program', models.CharField(blank=True, max_length=200)),
                ('requested_at', models.DateTimeField()),
                ('expires_at', models.DateTimeField()),
                ('decided_by_name', models.CharField(blank=True, max_length=200)),
                ('decided_at', models.DateTimeField(null=True)),
                ('decision_note', models.TextField(blank=True)),
                ('ended_at', models.DateTimeField(null=True)),
                ('end_reason', models.TextField(blank=True)),
                ('differences', models.JSONField(default=list)),
                ('decided_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('requested_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-requested_at', '-pk'],
                'default_permissions': (),
                'indexes': [models.Index(fields=['state', '-requested_at'], name='approvals_a_state_75afe7_idx'), models.Index(fields=['-requested_at', '-id'], name='approvals_a_request_a2113f_idx')],
            },
        ),
    ]
